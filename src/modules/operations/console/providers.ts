import { openConsoleFiles } from '../../../clients/console/files.ts'

/** What the console needs. Its files are the program's: every instance of a process has the same. */
export const consoleParts = () => ({ consoleFiles: { open: openConsoleFiles } })

export type ConsoleParts = ReturnType<typeof consoleParts>
