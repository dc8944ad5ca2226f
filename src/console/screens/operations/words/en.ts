export default {
  title: 'Operations',
} as const
