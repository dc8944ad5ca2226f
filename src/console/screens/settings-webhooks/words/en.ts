export default {
  title: 'Settings webhooks',
} as const
