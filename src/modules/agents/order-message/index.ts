export { deleteOldOrderMessages } from './service.ts'
