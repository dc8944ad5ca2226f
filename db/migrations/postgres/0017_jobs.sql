CREATE TABLE "jobs" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"holder" text COLLATE "C",
	"beat" integer DEFAULT 0 NOT NULL,
	"running_since" bigint,
	"started_at" bigint,
	"ended_at" bigint,
	"duration_ms" integer,
	"result" text COLLATE "C",
	"error" text COLLATE "C",
	"succeeded_at" bigint,
	"requested_at" bigint
);
