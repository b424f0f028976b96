# Completion of idxport for PowerShell 5 and later. Where there are no candidates, PowerShell completes paths itself.
Register-ArgumentCompleter -Native -CommandName idxport, idxport.exe -ScriptBlock {
    param($word, $line, $cursor)
    $before = @($line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.Extent.Text })
    foreach ($answer in @(& idxport __complete "word=$word" @before 2>$null)) {
        $value, $about = $answer -split "`t", 2
        if (-not $value) { continue }
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
