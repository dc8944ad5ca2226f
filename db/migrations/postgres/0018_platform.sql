CREATE TABLE "error_events" (
	"fingerprint" text COLLATE "C" NOT NULL,
	"hour" bigint NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"count" integer NOT NULL,
	"last_seen" bigint NOT NULL,
	CONSTRAINT "error_events_hour_fingerprint_pk" PRIMARY KEY("hour","fingerprint")
);
--> statement-breakpoint
CREATE TABLE "operations_answers" (
	"kind" text COLLATE "C" PRIMARY KEY NOT NULL,
	"source" text COLLATE "C" NOT NULL,
	"as_of" bigint NOT NULL,
	"body" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "process_starts" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"host" text COLLATE "C" NOT NULL,
	"version" text COLLATE "C" NOT NULL,
	"revision" text COLLATE "C" NOT NULL,
	"started_at" bigint NOT NULL,
	"deployed_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL,
	"stopped_at" bigint
);
--> statement-breakpoint
CREATE INDEX "process_starts_by_start" ON "process_starts" USING btree ("started_at");