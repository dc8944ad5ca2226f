export default {
  title: 'Settings shipping',
} as const
