export {
  type ConsoleSession,
  closeConsoleSession,
  issueSetupToken,
  openConsoleSession,
  resumeConsoleSession,
  setUpConsole,
} from './service.ts'
