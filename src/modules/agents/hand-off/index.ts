export { canPayByLink, continueUrlOf, findHandOff, type HandOff, takeHandOff } from './service.ts'
