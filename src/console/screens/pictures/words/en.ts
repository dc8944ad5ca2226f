export default {
  title: 'Pictures',
} as const
