# Completion of idxport for PowerShell 5 and later. Where there are no candidates, PowerShell completes paths itself.
Register-ArgumentCompleter -Native -CommandName idxport, idxport.exe -ScriptBlock {
    param($word, $line, $cursor)
    $before = @($line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.Extent.Text })
    $before += if ($word.StartsWith('-')) { '-' } else { 'x' } # - lists all flags
    foreach ($answer in @(& idxport @before --generate-shell-completion 2>$null)) {
        $name, $about = $answer -split ':', 2
        if ($name.StartsWith($word)) {
            [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $about)
        }
    }
}
