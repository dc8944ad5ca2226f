export default {
  title: 'Settings mail',
} as const
