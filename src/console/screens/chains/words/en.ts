export default {
  title: 'Chains',
} as const
