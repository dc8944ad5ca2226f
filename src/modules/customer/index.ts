export { changeOwnAddress, changeOwnCustomer, listCustomers, ownAddresses, removeOwnAddress } from './own.ts'
export type { CustomerDeps } from './parts.ts'
export { type GuestOrders, joinTheRest, noteAddressProven, type Proven } from './proof.ts'
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
  emailOf,
  enterAddress,
  logInCustomer,
  orderIdsOf,
  readAddress,
  readCustomer,
  setCustomerPassword,
  signUpCustomer,
} from './service.ts'
