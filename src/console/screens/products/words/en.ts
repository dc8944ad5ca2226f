export default {
  title: 'Products',
} as const
