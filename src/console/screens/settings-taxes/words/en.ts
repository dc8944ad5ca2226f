export default {
  title: 'Settings taxes',
} as const
