import { openConsoleFiles } from '../../../clients/console/files.ts'

/** What the console needs. Its files are the program's: every instance of a process has the same. */
export const consoleProviders = () => ({ consoleFiles: { open: openConsoleFiles } })

export type ConsoleProviders = ReturnType<typeof consoleProviders>
