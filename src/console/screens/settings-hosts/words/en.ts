export default {
  title: 'Settings hosts',
} as const
