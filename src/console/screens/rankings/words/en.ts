export default {
  title: 'Rankings',
} as const
