export default {
  title: 'Partnerships',
} as const
