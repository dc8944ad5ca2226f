import { openConsoleFiles } from '../../../clients/console/files.ts'

/** The console's files, shared by all instances of a process. */
export const consoleProviders = () => ({ consoleFiles: { open: openConsoleFiles } })

export type ConsoleProviders = ReturnType<typeof consoleProviders>
