/* The one function of Windows' bcryptprimitives.dll that Go's runtime cannot start without, for versions of wine that lack it (before 9.0). */
#include <windows.h>
#include <ntsecapi.h> /* RtlGenRandom, which advapi32 exports as SystemFunction036 */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
    while (size > 0) {
        ULONG some = size < 1u << 20 ? (ULONG)size : 1u << 20;
        if (!RtlGenRandom(data, some))
            return FALSE;
        data += some;
        size -= some;
    }
    return TRUE;
}
