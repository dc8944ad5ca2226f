/** The payment processors: title, method, and whether they take Apple Pay and Google Pay tokens. */
export const processorFacts = {
  stripe: { title: 'Stripe', method: 'card', takesWallets: true },
  tap: { title: 'Tap', method: 'card', takesWallets: true },
  qpay: { title: 'QPay', method: 'card', takesWallets: false },
  checkout: { title: 'Checkout.com', method: 'card', takesWallets: true },
  paypal: { title: 'PayPal', method: 'paypal', takesWallets: false },
  btcpay: { title: 'BTCPay Server', method: 'crypto', takesWallets: false },
} as const

type Facts = typeof processorFacts
/** All processors except the sandbox. */
export type ProcessorName = keyof Facts
/** Processors of cards on the shopper's page, or of their local equivalent (QR codes in Mongolia). */
export type CardProcessor = { [Name in ProcessorName]: Facts[Name]['method'] extends 'card' ? Name : never }[ProcessorName]

export const processorNames = Object.keys(processorFacts) as [ProcessorName, ...ProcessorName[]]
export const cardProcessors = processorNames.filter((name) => processorFacts[name].method === 'card') as [CardProcessor, ...CardProcessor[]]
/** Returns the processors of a method. */
export const processorsOf = (method: Facts[ProcessorName]['method']): ProcessorName[] =>
  processorNames.filter((name) => processorFacts[name].method === method)
/** Returns whether a name is a processor that takes real money. The sandbox is not. */
export const isProcessorName = (name: string): name is ProcessorName => Object.hasOwn(processorFacts, name)
