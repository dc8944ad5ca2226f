export default {
  title: 'Collections',
} as const
