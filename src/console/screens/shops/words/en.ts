export default {
  title: 'Shops',
} as const
