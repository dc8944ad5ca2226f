export default {
  title: 'Affiliates',
} as const
