export default {
  title: 'Blog',
} as const
