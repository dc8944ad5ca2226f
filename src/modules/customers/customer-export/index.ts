export { exportCustomer } from './service.ts'
