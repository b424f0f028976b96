/* hold FILE [alone]: have a file open as most programs do, so that it can be read and written but not deleted meanwhile, or so that nobody else can
 * open it; print a line once it is open, and end with the input. */
#include <stdio.h>
#include <windows.h>

int main(int argc, char **argv)
{
    DWORD share = argc > 2 ? 0 : FILE_SHARE_READ | FILE_SHARE_WRITE;
    if (argc < 2 || CreateFileA(argv[1], GENERIC_READ, share, NULL, OPEN_EXISTING, 0, NULL) == INVALID_HANDLE_VALUE)
        return 1;
    puts("open");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
