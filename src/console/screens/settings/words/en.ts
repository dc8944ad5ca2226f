export default {
  title: 'Settings',
} as const
