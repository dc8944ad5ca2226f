export { type ConsoleDeps, consoleAsset, consolePage } from './service.ts'
