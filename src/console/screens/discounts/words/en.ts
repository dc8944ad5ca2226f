export default {
  title: 'Discounts',
} as const
