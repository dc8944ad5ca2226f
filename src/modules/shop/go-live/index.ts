export { type GoLiveDeps, goLive } from './service.ts'
