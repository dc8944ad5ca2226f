/** Takes up what other processes of the instance know of payment processors that do not answer. */
export { shareBreakers } from '../src/modules/payment-method/index.ts'
