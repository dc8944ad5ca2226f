export default {
  title: 'Account',
} as const
