export default {
  title: 'Settings payments',
} as const
