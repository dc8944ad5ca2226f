export default {
  title: 'Figures',
} as const
