export { type ConsoleSession, closeConsole, issueSetupToken, openConsole, resumeConsole, setUpConsole } from './service.ts'
