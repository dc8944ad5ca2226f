export { orderAnswer } from './order-answer.ts'
export { findAgentOrder, readAgentOrder } from './service.ts'
