export default {
  title: 'Orders',
  search: 'Number, name, e-mail, address or product',
  payment: 'Payment',
  number: 'Order',
  customer: 'Customer',
  guest: 'Guest',
  total: 'Total',
  placed: 'Placed',
  sending: 'Sending',
  none: 'No orders yet',
  noneText: 'When somebody buys something, it is here at once.',
} as const
