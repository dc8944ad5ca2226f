export default {
  title: 'Breakers',
} as const
