export default {
  title: 'Settings staff',
} as const
