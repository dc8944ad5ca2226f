export { type AgentOrderFacts, isPlaced, type OrderAnswer, orderAnswer } from './order-answer.ts'
export { findAgentOrder, readAgentOrder } from './service.ts'
