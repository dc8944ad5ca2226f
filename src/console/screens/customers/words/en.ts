export default {
  title: 'Customers',
} as const
