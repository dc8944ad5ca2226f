export { changeCustomer } from './change-customer.ts'
export { findCustomerInconsistencies } from './check-store.ts'
export { addressesPerCustomerMax } from './domain.ts'
export { joinAllGuestOrders, joinRemainingOrders, recordAddressProof } from './email-proof.ts'
export type { GuestOrders } from './guest-orders.ts'
export { type CustomersReport, customersStoppedError, importCustomers } from './import.ts'
export type { CustomerDeps } from './providers.ts'
export { backfillCustomerSearch, indexUnindexedCustomers, listCustomers, readCustomerChunk, reindexCustomer } from './search-index.ts'
export { changeOwnAddress, changeOwnCustomer, listOwnAddresses, removeOwnAddress } from './self-service.ts'
export {
  accountOf,
  addAddress,
  addJoinedOrders,
  addSpending,
  changeCustomerPassword,
  countOrder,
  createBookAddress,
  createCustomer,
  emailOf,
  enterAddress,
  findCustomerByEmail,
  findCustomerById,
  listOrderIds,
  lockCustomer,
  logInCustomer,
  readAddress,
  readCustomer,
  readOwnCustomer,
  setCustomerPassword,
  signUpCustomer,
  validateAddress,
} from './service.ts'
