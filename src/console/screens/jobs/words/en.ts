export default {
  title: 'Jobs',
} as const
