export default {
  title: 'Kyb',
} as const
