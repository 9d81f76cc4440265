// A certificate that no program trusts, and its key, for the kubeconfigs of tests.

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBMjCB5aADAgECAhQufvw3z+HnKEymWg00gWYvd9cbyDAFBgMrZXAwDjEMMAoG
A1UEAwwDcm93MCAXDTI2MTEyNzAwMzU1N1oYDzIxMjYxMTAzMDAzNTU3WjAOMQww
CgYDVQQDDANyb3cwKjAFBgMrZXADIQDhSTPk+0qdmfH6douhNcHVvN/yeNsrnqqu
ajqE3i6PZaNTMFEwHQYDVR0OBBYEFNF1wDdnbzS8IRLX7h1hqyb2DrlYMB8GA1Ud
IwQYMBaAFNF1wDdnbzS8IRLX7h1hqyb2DrlYMA8GA1UdEwEB/wQFMAMBAf8wBQYD
K2VwA0EAqNYnFB/LUouifLCfy4cFV/l3sAIQtGuxAMLvGzLK0OGt30Smzg2N9bG6
jcNwRy9iqtlRRuLMB+pGlLmyJcXZBQ==
-----END CERTIFICATE-----
`;
export const privateKey = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJT0xOCrOUu4zbryEks+/ZhJdaGoex9/m5IZ2MJNTHRo
-----END PRIVATE KEY-----
`;
