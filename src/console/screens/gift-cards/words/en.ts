export default {
  title: 'Gift cards',
} as const
