export { customerFindings } from './check-store.ts'
export { addressesPerCustomerMax } from './domain.ts'
export { joinAllWithin, joinTheRest, noteAddressProven } from './email-proof.ts'
export type { GuestOrders } from './guest-orders.ts'
export { type CustomersOptions, type CustomersReport, customersStopped, importCustomers } from './import.ts'
export type { CustomerDeps } from './providers.ts'
export { fillCustomerSearch, fillUnknownCustomers, listCustomers, pieceOfCustomers, reindexCustomer } from './search-index.ts'
export { changeOwnAddress, changeOwnCustomer, ownAddresses, removeOwnAddress } from './self-service.ts'
export {
  accountOf,
  addAddress,
  addSpending,
  changeCustomerPassword,
  checkedAddress,
  countJoined,
  countOrder,
  createBookAddress,
  createCustomer,
  customerWithEmail,
  customerWithId,
  customerWithin,
  emailOf,
  enterAddress,
  logInCustomer,
  orderIdsOf,
  readAddress,
  readCustomer,
  setCustomerPassword,
  signUpCustomer,
} from './service.ts'
