export type { CustomerDeps } from './parts.ts'
export {
  addAddress,
  addSpending,
  changeCustomerPassword,
  checkedAddress,
  countOrder,
  createBookAddress,
  createCustomer,
  customerWithEmail,
  emailOf,
  enterAddress,
  logInCustomer,
  orderIdsOf,
  readAddress,
  readCustomer,
  signUpCustomer,
} from './service.ts'
