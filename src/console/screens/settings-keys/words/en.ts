export default {
  title: 'Settings keys',
} as const
