package api

// secretsParam asks for the values of variables that are shown as *** otherwise.
const secretsParam = "secrets"
