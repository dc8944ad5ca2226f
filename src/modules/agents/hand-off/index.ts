export { continueUrlOf, findHandOff, takeHandOff } from './service.ts'
