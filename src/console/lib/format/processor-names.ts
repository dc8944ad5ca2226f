/** Processors by what they call themselves, in every language. */
const names: Readonly<Record<string, string>> = {
  stripe: 'Stripe',
  tap: 'Tap',
  qpay: 'QPay',
  checkout: 'Checkout.com',
  paypal: 'PayPal',
  btcpay: 'BTCPay Server',
  sandbox: 'Sandbox',
}
/** One that is new here stands by its code. */
export const processorName = (name: string): string => names[name] ?? name
