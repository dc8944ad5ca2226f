/** Brand names of processors, the same in every language. */
const names: Readonly<Record<string, string>> = {
  stripe: 'Stripe',
  tap: 'Tap',
  qpay: 'QPay',
  checkout: 'Checkout.com',
  paypal: 'PayPal',
  btcpay: 'BTCPay Server',
  sandbox: 'Sandbox',
}
export const processorName = (name: string): string => names[name] ?? name
